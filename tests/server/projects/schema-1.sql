-- A project of schema 1 with places of documents, as `iterdump` wrote it; built-in tasks are left out.
BEGIN TRANSACTION;
CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL REFERENCES task ON DELETE CASCADE, method TEXT NOT NULL,
  name TEXT NOT NULL, activate INTEGER NOT NULL, state TEXT NOT NULL, created TEXT NOT NULL, started TEXT,
  finished TEXT, message TEXT NOT NULL DEFAULT '', progress REAL, curve TEXT NOT NULL DEFAULT '[]',
  held_out INTEGER NOT NULL DEFAULT 0, model INTEGER, error TEXT
);
CREATE TABLE model (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL REFERENCES task ON DELETE CASCADE, name TEXT NOT NULL,
  parent INTEGER, created TEXT NOT NULL, source TEXT NOT NULL, method TEXT, kind TEXT NOT NULL,
  corrected INTEGER NOT NULL, pool INTEGER NOT NULL, scores TEXT, seen TEXT NOT NULL, file BLOB NOT NULL
);
CREATE TABLE place (
  record INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE, source TEXT NOT NULL
);
INSERT INTO "place" VALUES(2,'{"file": "walls.pdf", "page": 2, "line": 1, "start": 0, "end": 4, "confidence": 0.9, "box": null, "mark": "", "filled": ""}');
CREATE TABLE record (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL REFERENCES task ON DELETE CASCADE, text TEXT NOT NULL,
  tokens TEXT, key TEXT NOT NULL, corrected TEXT, corrected_at TEXT, UNIQUE (task, key)
);
INSERT INTO "record" VALUES(1,'wares','oak chair 12 $',NULL,'5ce54ccd412fbff78cd9320d53b3f5e68c1f7c0c409c236886fe1cb78a689d1f','[[0, 9, "item"], [10, 14, "price"]]','2026-11-16T11:34:20Z');
INSERT INTO "record" VALUES(2,'wares','lamp',NULL,'c98e85f249002f03068e2a61e1a1df5c0db035d6cdf41d00ff6056ed63060947',NULL,NULL);
INSERT INTO "record" VALUES(3,'wares','old clock 7 $',NULL,'9199c210f39564c44c5bd959f11ac6ef57e348ff4b246b6abfdf99880b48b62b',NULL,NULL);
CREATE TABLE task (
  name TEXT PRIMARY KEY, definition TEXT, rules TEXT NOT NULL, penalties TEXT NOT NULL DEFAULT '{}',
  off TEXT NOT NULL DEFAULT '[]', active INTEGER
);
INSERT INTO "task" VALUES('wares','{"labels": ["item", "price"], "outside": true, "templates": null}','Dollar: token in "$" -> price
','{"Dollar": 3.0}','[]',NULL);
CREATE INDEX record_of_task ON record (task, id);
CREATE INDEX model_of_task ON model (task, id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('record',3);
COMMIT;
PRAGMA user_version = 1;
PRAGMA application_id = 1165193313;
