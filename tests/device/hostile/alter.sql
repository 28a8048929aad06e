-- denied: not a query
ALTER TABLE keyboard_ngrams RENAME COLUMN secret TO public
