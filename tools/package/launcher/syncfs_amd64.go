package main

const sysSyncfs = 306 // syncfs(2)
