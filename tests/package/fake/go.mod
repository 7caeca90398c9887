module raidbench/tests/package/fake

go 1.24
