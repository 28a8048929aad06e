-- too large: more
SELECT a.ngram FROM keyboard_ngrams a, keyboard_ngrams b, keyboard_ngrams c, keyboard_ngrams d, keyboard_ngrams e, keyboard_ngrams f, keyboard_ngrams g, keyboard_ngrams h WHERE b.age + c.age + d.age + e.age + f.age + g.age + h.age > 0 ORDER BY a.ngram || b.ngram || c.ngram
