-- The statistics on labels hold nothing until then, and autovacuum comes only after a tenth of the tasks has changed.
ANALYZE "tasks";