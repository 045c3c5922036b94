-- Last, and alone: reads of tasks wait for it. Where it comes first they wait for all that follows.
DROP INDEX "tasks_deleted";