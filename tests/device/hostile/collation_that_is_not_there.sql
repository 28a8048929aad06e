-- malformed: no such collation
SELECT age FROM keyboard_ngrams ORDER BY ngram COLLATE secret
