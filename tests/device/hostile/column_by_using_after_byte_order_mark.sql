-- malformed: plain ASCII
SELECT k.age FROM keyboard_ngrams k JOIN health h ﻿USING(secret)
