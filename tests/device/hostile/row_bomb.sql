-- too large: rows
SELECT a.age FROM keyboard_ngrams a, keyboard_ngrams b, keyboard_ngrams c, keyboard_ngrams d, keyboard_ngrams e, keyboard_ngrams f, keyboard_ngrams g WHERE b.age + c.age + d.age + e.age + f.age + g.age > 0
