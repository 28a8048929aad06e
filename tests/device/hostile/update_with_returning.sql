-- denied: not a query
UPDATE keyboard_ngrams SET age = 1 RETURNING secret
