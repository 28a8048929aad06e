-- denied: identifies
SELECT k.* FROM keyboard_ngrams AS k
