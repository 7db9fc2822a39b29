"""Settings for Spark in tests: small jobs are over before Java's second compiler and its other cores pay."""

_JAVA = "spark.driver.extraJavaOptions"
QUICK = {"spark.sql.shuffle.partitions": "2", _JAVA: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"}
QUICK_WORDS = ("--conf", f"{_JAVA}={QUICK[_JAVA]}")
