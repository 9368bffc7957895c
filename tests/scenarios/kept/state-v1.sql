PRAGMA user_version = 3;
PRAGMA application_id = 1398276097;
BEGIN TRANSACTION;
CREATE TABLE charges (instance TEXT NOT NULL, at REAL NOT NULL, format TEXT NOT NULL);
CREATE TABLE choices (
                kind TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, value)
            ) WITHOUT ROWID;
INSERT INTO "choices" VALUES('blocked','nobody.example');
INSERT INTO "choices" VALUES('own','https://own.example/');
CREATE TABLE claims (job TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE installation (
                row INTEGER PRIMARY KEY CHECK (row = 1), seed INTEGER NOT NULL
            );
INSERT INTO "installation" VALUES(1,7213140457438675506);
CREATE TABLE instances (
                url TEXT PRIMARY KEY, last_at REAL NOT NULL, body TEXT NOT NULL
            ) WITHOUT ROWID;
INSERT INTO "instances" VALUES('http://127.0.0.1:42673/',1.79539295595821475981e+09,'{"url": "http://127.0.0.1:42673/", "state": "healthy", "until": 0.0, "reason": "", "healthy_since": 1795392955.9559176, "last_at": 1795392955.9582148, "successes": 2, "failures": 0, "consecutive_failures": 0, "observed": 1.099999955770222, "count": 1.9999999262837034, "observed_at": 1795392955.9582148, "latency": 0.006826368645592229, "latency_at": 1795392955.9582148, "latencies": [0.007, 0.002], "outcomes": [{"at": 1795392955.956, "verdict": "thin", "format": "json", "status_code": 200, "elapsed_ms": 7, "detail": ""}, {"at": 1795392955.958, "verdict": "empty", "format": "json", "status_code": 200, "elapsed_ms": 2, "detail": ""}], "json_enabled": true, "json_recheck": 0.0, "json_listed": null, "link_token": null, "failing_episode": 0, "limit_episode": 0, "quarantine_episode": 0, "limits": [], "recent": [true, true], "without_engines": 0, "empty": 1, "degraded_at": 0.0, "successes_in_a_row": 5, "overtaken": 0, "overtaken_at": 0.0, "offences": 0, "alone": 0, "certificate_failures": 0, "bans": 0, "drift": 0, "last_verdict": "empty", "last_detail": "", "facts": null, "cleared_at": 0.0, "engines": [{"name": "alpha", "searches": ["general"], "answered": 1, "refused": 0, "failed": 0, "results": 1, "reason": "", "asked_at": 1795392955.9559176, "refused_at": 0.0, "until": 0.0, "gap": 0.0, "spell": 0.0}, {"name": "beta", "searches": ["general"], "answered": 1, "refused": 0, "failed": 0, "results": 1, "reason": "", "asked_at": 1795392955.9559176, "refused_at": 0.0, "until": 0.0, "gap": 0.0, "spell": 0.0}], "version": 1}');
CREATE INDEX charges_by_instance ON charges (instance, at, format);
COMMIT;
