-- denied: EXPLAIN
EXPLAIN SELECT age FROM keyboard_ngrams
