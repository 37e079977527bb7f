import AMQP
import AdminHTTP
import Configuration
import ControlProtocol
import Crypto
import HTTP2
import HTTPClient
import JSONSchema
import RegistrationStores
import YAML

extension DoctorCheck {
    /// The check that prints the versions of the libraries that this process has loaded. The program may have been
    /// built with other versions.
    static let libraries = DoctorCheck(name: "libraries", secondsMax: 5) { context, _, _ in
        var versions = [
            ("librabbitmq", AMQPLibrary.version), ("nghttp2", HTTP2Library.version), ("OpenSSL", CryptoLibrary.version),
            ("PCRE2", PatternLibrary.version), ("libyaml", YAMLLibrary.version),
            ("libmicrohttpd", AdminHTTPLibrary.version),
        ]
        var warnings: [DoctorLine] = []
        do throws(HTTPError) {
            versions.append(("libcurl", try CurlLibrary.version()))
        } catch {
            warnings.append(
                .warning(
                    "libraries", "\(error.message); HTTP requests are unavailable",
                    remedy: "install libcurl 4 (Debian package libcurl4), and restart the workers"))
        }
        // The configuration check reports a library that cannot be loaded.
        let ofStore = (context.configuration?.registrations?.store).flatMap { try? $0.loadLibrary() }
        let text = (versions.map { "\($0.0) \($0.1)" } + [ofStore].compactMap(\.self)).joined(separator: ", ")
        return [.ok("libraries", "martlet \(MartletVersion.current) with \(text)")] + warnings
    }
}
