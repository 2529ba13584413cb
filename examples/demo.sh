#!/bin/sh
# Parse references, then train on adverts and label new ones:  examples/demo.sh [path of the espalier command]
set -eu
espalier=$(command -v "${1:-espalier}")
case $espalier in /*) ;; *) espalier=$PWD/$espalier ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$(dirname "$0")/references.txt" "$(dirname "$0")/orchard" "$work"
cd "$work"

run() {
    printf '\n$ espalier %s\n' "$*"
    "$espalier" "$@"
}

head -n 12 references.txt > dozen.txt
run parse dozen.txt --format table
run parse references.txt --output references.bib
printf '\n$ tail -n 28 references.bib\n'
tail -n 28 references.bib

run train --labelled orchard/train.txt --output orchard.espalier
run evaluate --model orchard.espalier --data orchard/test.txt
head -n 3 orchard/new.txt > new.txt
run label new.txt --model orchard.espalier --format table
