"""The workbench: a local web page where one sees fields, corrects them, teaches, and watches what rules do.

    espalier serve                       http://127.0.0.1:8000

| file | one idea |
|---|---|
| `database` | one SQLite file, opened by one server; what is confirmed is on the disk; full disks and damage in words |
| `backup` | copies of it |
| `tasks`, `records`, `models` | the tables: what is stored of each |
| `history` | who changed what; writes on an old version are refused |
| `labellers` | model files as extractors, and the penalties they learned; without one, scores of zero |
| `rule_texts` | rules as text, sliders and switches; mistakes by line and column |
| `answers` | extractions as the API writes them |
| `memory` | what is kept between requests, within bounds |
| `bench` | all of the above together: what the routes call |
| `relabelling` | labels of a task that change |
| `searching`, `marking` | finding records, and what people do to them besides correcting; taking it back |
| `reading`, `exporting`, `redecoding`, `suggesting`, `measuring` | one kind of work each |
| `jobs`, `orders`, `teaching`, `judgement` | training in a process of its own, one at a time; is the new model worse? |
| `turns` | whose turn it is to compute, and for how long |
| `security`, `sessions`, `login` | hosts, origins, sizes, headers; who has come in with the token |
| `callers`, `transport`, `workers` | who is still there; connections; several processes |
| `references`, `forms` | references for other programs, in any form and format |
| `metrics`, `description` | what the server has done, and what it can do |
| `shapes/`, `routes/`, `app` | the HTTP side |

`docs/server-api.md` describes the routes. FastAPI and uvicorn come with the extra `serve`.
"""
