-- denied: not a query
CREATE INDEX x ON keyboard_ngrams(secret)
