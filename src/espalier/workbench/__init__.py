"""The workbench: a local web page where one sees fields, corrects them, teaches, and watches what rules do.

    espalier serve                       http://127.0.0.1:8000

It is the server (`espalier.server`) with the records of a team, and a page:

| file | one idea |
|---|---|
| `bench` | the core of the server, with records and what models say about them |
| `records`, `job_table` | the tables: what is stored of each |
| `fields`, `given_labels` | fields that people or files assign, fitted to a task |
| `marking`, `relabelling` | splitting, merging, taking back; labels of a task that change |
| `searching` | finding records, and confirming those that are sure |
| `exporting`, `redecoding`, `suggesting`, `measuring`, `rule_rows` | one kind of work each |
| `jobs`, `orders`, `teaching`, `judgement` | training in a process of its own, one at a time; is the new model worse? |
| `shapes/`, `routes/`, `app` | the HTTP side |

`docs/server-api.md` describes the routes. FastAPI and uvicorn come with the extra `serve`.
"""
