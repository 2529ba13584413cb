#!/bin/sh
# Train on 60 adverts, judge on 20 others, label 20 new ones:  examples/demo.sh [path of the espalier command]
set -eu
espalier=${1:-espalier}
cards=$(dirname "$0")/orchard
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() {
    printf '\n$ espalier %s\n' "$*"
    "$espalier" "$@"
}

run train --labelled "$cards/train.txt" --output "$work/orchard.espalier"
run evaluate --model "$work/orchard.espalier" --data "$cards/test.txt"
run label "$cards/new.txt" --model "$work/orchard.espalier" --format table
run label "$cards/new.txt" --model "$work/orchard.espalier" --output "$work/new.jsonl"
run convert "$work/new.jsonl" "$work/new.conll"
