// Package analytics is the port to the traffic that gateways report.
package analytics
