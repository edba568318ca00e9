package config

// half is how many characters of a secret are shown at its beginning and its end.
const half = 3

// hidden returns a secret with its middle masked; a short one is masked completely.
func hidden(text string) string {
	switch {
	case text == "":
		return ""
	case len(text) <= 2*half:
		return "****"
	}
	return text[:half] + "...." + text[len(text)-half:]
}

// Shown returns the settings in the form for clients of the portal: secrets are masked.
func (p Portal) Shown() map[string]any {
	type object = map[string]any
	certificates := []object{}
	for _, c := range p.TLS.Certificates {
		certificates = append(certificates, object{"CertFile": c["CertFile"], "KeyFile": c["KeyFile"], "Name": c["Name"]})
	}
	return object{
		"Blog":          object{"AllowFormSubmission": false, "Enable": true},
		"Database":      object{"ConnectionString": hidden(p.Database.ConnectionString.Reveal()), "Dialect": p.Database.Dialect, "EnableLogs": p.Database.EnableLogs, "MaxRetries": p.Database.MaxRetries, "RetryDelay": p.Database.RetryDelay},
		"Forms":         object{"Enable": false},
		"HostPort":      p.HostPort,
		"JwtSigningKey": hidden(p.JwtSigningKey.Reveal()), "LicenseKey": hidden(p.LicenseKey.Reveal()), "PortalAPISecret": hidden(p.PortalAPISecret.Reveal()),
		"LogFormat": p.LogFormat, "LogLevel": p.LogLevel, "ProductDocRenderer": p.ProductDocRenderer, "RefreshInterval": p.RefreshInterval,
		"S3": object{"ACL": p.S3.ACL, "AccessKey": hidden(p.S3.AccessKey.Reveal()), "Bucket": p.S3.Bucket, "Endpoint": p.S3.Endpoint, "PresignURLs": p.S3.PresignURLs,
			"Region": p.S3.Region, "SecretKey": hidden(p.S3.SecretKey.Reveal())},
		"Site":    object{"Enable": true},
		"Storage": p.Storage, "StoreSessionName": p.Session.Name,
		"TLSConfig": object{"Certificates": certificates, "Enable": p.TLS.Enable, "InsecureSkipVerify": p.TLS.InsecureSkipVerify, "MinVersion": p.TLS.MinVersion,
			"MaxVersion": p.TLS.MaxVersion, "PreferServerCipherSuites": p.TLS.PreferServerCipherSuites, "CipherSuites": append([]string{}, p.TLS.CipherSuites...)},
		"Theming": object{"Path": p.Theming.Path, "Theme": p.Theming.Theme},
	}
}
