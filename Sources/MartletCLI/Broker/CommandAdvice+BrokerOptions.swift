import Configuration
import Text

extension CommandAdvice {
    init(_ broker: BrokerOptions) {
        if let path = broker.configPath {
            self.init(configPath: path)
            return
        }
        let standard = BrokerOptions()
        let prefix = broker.prefix == standard.prefix ? "" : " --prefix \(Shell.word(broker.prefix))"
        // A URL with user information may contain a password.
        let url = broker.url.contains("@") ? "URL" : Shell.word(broker.url)
        self.init(
            ofBroker: (broker.url == standard.url ? "" : " --url \(url)") + prefix, ofTopologyPrint: prefix,
            ofFile: " --config FILE")
    }
}
