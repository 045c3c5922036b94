package main

import (
	"fmt"
	"log"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

// A collection with the fields of a task that the benchmark sends, open to everybody: no time is spent on who asks.
func tasks() *core.Collection {
	open := types.Pointer("")
	tasks := core.NewBaseCollection("tasks")
	tasks.ListRule, tasks.ViewRule, tasks.CreateRule, tasks.UpdateRule = open, open, open, open
	tasks.Fields.Add(
		&core.TextField{Name: "title", Required: true, Max: 500},
		&core.TextField{Name: "description", Max: 65536},
		&core.SelectField{Name: "status", Values: []string{"open", "in_progress", "done"}, MaxSelect: 1},
		&core.SelectField{Name: "priority", Values: []string{"low", "medium", "high", "urgent"}, MaxSelect: 1},
		&core.JSONField{Name: "labels"},
		&core.AutodateField{Name: "created", OnCreate: true},
		&core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true},
	)
	tasks.AddIndex("tasks_created", false, "created, id", "")
	return tasks
}

func main() {
	app := pocketbase.New()
	app.OnServe().BindFunc(func(event *core.ServeEvent) error {
		event.InstallerFunc = nil
		if err := app.Save(tasks()); err != nil {
			return err
		}
		fmt.Printf("It is at http://%s/\n", event.Server.Addr)
		return event.Next()
	})
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}
