-- denied: json_group_array
SELECT json_group_array(age) FROM keyboard_ngrams
