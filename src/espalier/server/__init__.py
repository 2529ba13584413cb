"""The server: references in, records out, over HTTP, for other programs.

    espalier api                         http://127.0.0.1:8000/api

| file | one idea |
|---|---|
| `database` | one SQLite file, opened by one server; what is confirmed is on the disk; full disks and damage in words |
| `backup` | copies of it |
| `tasks`, `models`, `history`, `sessions` | the tables: what is stored of each, and who changed what |
| `labellers` | model files as extractors, and the penalties they learned; without one, scores of zero |
| `rule_texts` | rules as text, sliders and switches; mistakes by line and column |
| `memory` | what is kept between requests, within bounds |
| `core` | all of the above together: what routes call |
| `turns` | whose turn it is to compute, and for how long |
| `gathering` | small requests that wait are parsed together |
| `reading`, `forms` | bodies as documents |
| `answers`, `references` | extractions as the API writes them; references in any format |
| `arriving`, `security`, `login` | sizes, hosts, origins, headers; who has come in with the token |
| `callers`, `transport`, `workers` | who is still there; connections; several processes |
| `starting`, `metrics`, `description` | is it ready, what has it done, and what can it do |
| `shapes`, `routes/`, `app` | the HTTP side |

What has a page and a team stands on it, in `espalier.workbench`; nothing here knows of that. `docs/server-api.md`
describes the routes. FastAPI and uvicorn come with the extra `serve`.
"""
