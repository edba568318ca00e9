// Package analytics is the port to what gateways report.
package analytics
