-- malformed: no such table
SELECT 1 FROM sotto_time_of_keyboard_ngrams
