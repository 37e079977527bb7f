package import APNS
package import APNSProtocol
import Crypto
import Delivery
package import EventLoop
import TLS
import Text

/// The endpoint and credential with which an app's broadcast channels are managed.
package struct ChannelAccess: Sendable {
    package let pool: PoolConfiguration
    private let connector: APNSConnector
    private let context: TLSContext

    /// The reason why the configuration gives no access to the channels of the app.
    package struct Failure: Error {
        package var message: String

        package init(message: String) {
            self.message = message
        }
    }

    /// Chooses the endpoint and credential for an app. Reads certificates and prepares TLS.
    ///
    /// - Parameter environment: nil for the default environment of the app.
    package init(_ configuration: WorkerConfiguration, app bundleID: String, _ environment: APNSEnvironment?)
        throws(Failure)
    {
        try self.init(configuration, ChannelPlace(configuration, app: bundleID, environment))
    }

    /// Creates the access to a known endpoint. Reads certificates and prepares TLS.
    package init(_ configuration: WorkerConfiguration, _ place: ChannelPlace) throws(Failure) {
        do throws(CryptoError) {
            let (credential, identity) = try configuration.apns.credential(place.credential)
            pool = configuration.apns.pool(credential, place.environment, place.endpoint)
            connector = try APNSConnector(to: place.endpoint, configuration.apns)
            context = try LaneConnectors.context(
                identity, TLSTrustStore(configuration.apns.server(of: place.environment).trust))
        } catch {
            throw Failure(message: "\(error)")
        }
    }

    package func connector(on loop: EventLoop) -> ByteConnector {
        TLSConnector(over: connector.byteConnector(on: loop), context: context)
    }
}

/// The endpoint, and the name of the credential, for channel management. The choice needs no key or certificate.
package struct ChannelPlace: Sendable {
    package let credential: Credential.Name
    package let environment: APNSEnvironment
    package let endpoint: Endpoint

    /// Chooses the endpoint and credential for an app.
    ///
    /// - Parameter environment: nil for the default environment of the app.
    package init(
        _ configuration: WorkerConfiguration, app bundleID: String, _ environment: APNSEnvironment?
    ) throws(ChannelAccess.Failure) {
        guard let app = configuration.apps.first(where: { $0.bundleID == bundleID }) else {
            let near = Suggestion.nearest(to: bundleID, among: configuration.apps.map(\.bundleID))
            let hint = near.map { "; did you mean \($0)?" } ?? ""
            throw ChannelAccess.Failure(message: "app \(bundleID) is not configured\(hint)")
        }
        let environment = environment ?? app.environment
        guard let credential = app.credentials[environment]?[.broadcast] else {
            throw ChannelAccess.Failure(
                message: "no key or certificate for \(bundleID) in \(environment.rawValue); "
                    + "add one to apns.keys or apns.certificates")
        }
        guard let endpoint = configuration.apns.server(of: environment).channelEndpoint else {
            throw ChannelAccess.Failure(
                message:
                    "apns.endpoints.\(environment.rawValue) overrides the host; "
                    + "set apns.endpoints.\(environment.rawValue).channel_port for channel management")
        }
        (self.credential, self.environment, self.endpoint) = (credential, environment, endpoint)
    }
}
