-- malformed: plain ASCII
SELECTage FROM keyboard_ngrams
