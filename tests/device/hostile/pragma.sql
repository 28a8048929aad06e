-- denied: PRAGMA
PRAGMA table_info(keyboard_ngrams)
