// Command run is the run tool of the bundle "operator", linked statically: its image has no shell and no other file.
// It speaks to the API server with nothing but what a ServiceAccount's pod finds.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

const (
	account = "/var/run/secrets/kubernetes.io/serviceaccount"
	outputs = "/cnab/app/outputs"
)

func main() {
	if err := run(os.Getenv("CNAB_ACTION"), "cnab-operator-"+os.Getenv("CNAB_INSTALLATION_NAME")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(action, name string) error {
	message, err := os.ReadFile("/etc/operator/message")
	if err != nil {
		return err
	}
	if string(message) != os.Getenv("MESSAGE") {
		return fmt.Errorf("the parameter differs between its two destinations")
	}
	switch action {
	case "install":
		if err := write("deep/er/echo", message); err != nil {
			return err
		}
		made, err := call("POST", "", map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": name},
			"data":     map[string]string{"message": string(message)},
		})
		if err != nil {
			return err
		}
		fmt.Println("created ConfigMap", name)
		return write("uid", []byte(made.Metadata.UID))
	case "uninstall":
		_, err := call("DELETE", "/"+name, nil)
		return err
	}
	fmt.Println("nothing to do for", action)
	return nil
}

type object struct {
	Message  string
	Metadata struct{ UID string }
}

func call(method, path string, body any) (object, error) {
	var answer object
	namespace, err := os.ReadFile(filepath.Join(account, "namespace"))
	if err != nil {
		return answer, fmt.Errorf("no service account: %w", err)
	}
	token, err := os.ReadFile(filepath.Join(account, "token"))
	if err != nil {
		return answer, err
	}
	ca, err := os.ReadFile(filepath.Join(account, "ca.crt"))
	if err != nil {
		return answer, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}

	content, _ := json.Marshal(body)
	url := fmt.Sprintf("https://%s:%s/api/v1/namespaces/%s/configmaps%s",
		os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"), namespace, path)
	request, err := http.NewRequest(method, url, bytes.NewReader(content))
	if err != nil {
		return answer, err
	}
	request.Header.Set("authorization", "Bearer "+string(token))
	request.Header.Set("content-type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer, err
	}
	_ = json.Unmarshal(text, &answer)
	if response.StatusCode > 299 {
		return answer, fmt.Errorf("%s: %s", response.Status, answer.Message)
	}
	return answer, nil
}

func write(name string, content []byte) error {
	path := filepath.Join(outputs, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
