-- too large: more
SELECT max(a.age + b.age) FROM keyboard_ngrams a, keyboard_ngrams b, keyboard_ngrams c, keyboard_ngrams d, keyboard_ngrams e, keyboard_ngrams f, keyboard_ngrams g, keyboard_ngrams h, keyboard_ngrams i WHERE c.age + d.age + e.age + f.age + g.age + h.age + i.age > 0
