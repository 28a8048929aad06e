-- malformed: unrecognized token
SELECT 'age FROM keyboard_ngrams
