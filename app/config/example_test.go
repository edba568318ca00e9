package config_test

import (
	"fmt"

	"github.com/gatehouse-io/gatehouse/app/config"
)

func ExampleLoad() {
	file := []byte(`{"listen_port": 3000, "storage": {"main": {"type": "mongo"}}, "hide_listen_path": true}`)
	environ := []string{"SVC_DB_LISTENPORT=8080", "SVC_DB_ADMINSECRET=correct horse", "SVC_DB_NODESECRET=battery staple"}

	s, report := config.Load(file, "gatehouse.conf", environ, config.Options{})
	fmt.Println(s.Listen.Address(), s.AdminSecret)
	for _, w := range report.Warnings {
		fmt.Println("warning:", w)
	}
	fmt.Println("problem:", report.Err())
	// Output:
	// :8080 ********
	// warning: settings without effect in this version: hide_listen_path
	// problem: storage.main.type: expected one of sqlite, postgres, memory (gatehouse.conf); leave it out for a SQLite file in home_dir, or set it to postgres and storage.main.connection_string to a PostgreSQL database
}
