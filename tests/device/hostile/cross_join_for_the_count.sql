-- denied: health.*
SELECT k.age FROM keyboard_ngrams k, health
