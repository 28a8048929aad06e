-- malformed: too many arguments
SELECT coalesce(age,age,age,age,age,age,age,age,age,age,age,age,age,age,age,age,age,age,age,age) FROM keyboard_ngrams
