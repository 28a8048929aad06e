-- denied: randomblob
SELECT length(randomblob(1000000000))
