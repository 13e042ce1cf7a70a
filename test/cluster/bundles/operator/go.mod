module cnab-cli.test/cluster/operator

go 1.19
