-- refused: sqlite_stat1
SELECT stat FROM sqlite_stat1
