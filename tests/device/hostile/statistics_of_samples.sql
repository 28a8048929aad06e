-- refused: sqlite_stat4
SELECT sample FROM sqlite_stat4
