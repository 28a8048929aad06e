-- denied: not a query
INSERT INTO keyboard_ngrams(age) VALUES (1)
