-- refused: sqlite_sequence
SELECT seq FROM sqlite_sequence
