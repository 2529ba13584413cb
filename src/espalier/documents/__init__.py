"""Files that people have (PDF, web pages, manuscripts, pasted text) to lines with places, and lines to references.

| room | what happens there |
|---|---|
| `reading/` | a file becomes lines (`lines`), one file a kind, in a process of its own |
| `layout/` | where words stand on a page of a PDF, and in which order they are read |
| `deciding/` | what each line is: a learned model under declared rules |
| `cutting/` | what the lines of lists hold: references, each with its lines |

`references` says how texts and documents are cut, whoever asks; `sources` reads many files; `parsing` parses what was
cut. Rooms share lines, words that tell them apart (`line_words`) and the clock (`pace`).
"""
