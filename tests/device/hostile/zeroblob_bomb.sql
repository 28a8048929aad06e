-- denied: zeroblob
SELECT zeroblob(1000000000)
