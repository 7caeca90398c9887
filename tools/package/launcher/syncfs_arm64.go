package main

const sysSyncfs = 267 // syncfs(2)
