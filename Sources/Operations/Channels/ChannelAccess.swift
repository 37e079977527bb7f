import APNS
import APNSProtocol
import Crypto
import Delivery
import EventLoop
import JSONSchema
import TLS

/// Where the channels of one app are managed, and by what right.
struct ChannelAccess: Sendable {
    let pool: PoolConfiguration
    private let way: APNSWay
    private let context: TLSContext

    /// Why they cannot be.
    struct Failure: Error {
        var message: String
    }

    /// - Parameter environment: nil: that of the app.
    init(_ configuration: Configuration, app bundleID: String, _ environment: APNSEnvironment?) throws(Failure) {
        guard let app = configuration.apps.first(where: { $0.bundleID == bundleID }) else {
            let near = Suggestion.nearest(to: bundleID, among: configuration.apps.map(\.bundleID))
            let hint = near.map { "; did you mean \($0)?" } ?? ""
            throw Failure(message: "the configuration has no app \(bundleID)\(hint)")
        }
        let environment = environment ?? app.environment
        guard let name = app.credentials[environment]?[.broadcast] else {
            throw Failure(message: "no key or certificate is for \(bundleID) in \(environment.rawValue)")
        }
        let server = configuration.apns.server(of: environment)
        guard let endpoint = server.channelEndpoint else {
            throw Failure(
                message:
                    "apns.endpoints.\(environment.rawValue) has a host of its own: say where channels are managed, as "
                    + "channel_port")
        }
        do throws(CryptoError) {
            let (credential, identity) = try configuration.apns.credential(name)
            pool = configuration.apns.pool(credential, environment, endpoint)
            way = try APNSWay(to: endpoint, configuration.apns.proxy)
            context = try LaneAccess.context(identity, TLSTrustStore(server.trust))
        } catch {
            throw Failure(message: "\(error)")
        }
    }

    func connector(on loop: EventLoop) -> ByteConnector {
        TLSConnector(over: way.connector(on: loop), context: context)
    }
}
