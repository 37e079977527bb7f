import APNS
import APNSProtocol
import Configuration
import Crypto
import Delivery
import EventLoop
import TLS

extension DoctorCheck {
    /// The check that pushes to a nonexistent device for each app, because APNs checks credential and topic first. A
    /// separate endpoint of broadcasts receives one push to a nonexistent channel for each credential.
    static let apns = DoctorCheck(name: "apns", secondsMax: 40) { context, loop, findings in
        guard let configuration = context.configuration else {
            return [.unseen("apns", "the configuration has mistakes", remedy: "correct the mistakes first")]
        }
        do throws(CryptoError) {
            let pools = try ConnectionPools(configuration)
            let connectors = try LaneConnectors(configuration, pools: pools.list).connectors(on: loop).apns
            var probes: [(probe: APNsProbe, apps: [APNsProbe.App])] = []
            for (pool, connector) in zip(pools.list, connectors) {
                var configured = pool.configuration
                let apps = configuration.apps(
                    with: configured.credential.name, in: configured.environment, broadcasts: pool.isForBroadcasts)
                guard let first = apps.first else { continue }
                configured.connectionsMax = 1
                configured.waitSecondsMax = apnsAnswerSecondsMax
                configured.requestTimeoutSeconds = apnsAnswerSecondsMax
                let probe = APNsProbe(loop: loop, connector: connector, configuration: configured)
                probes.append((probe, pool.isForBroadcasts ? [first] : apps))
            }
            await findings.collect(probes.map(\.probe.name)) { [probes] index in
                let (probe, apps) = probes[index]
                await probe.check(Array(apps.prefix(appsMax)), found: findings.found)
                guard apps.count > appsMax else { return }
                findings.found(.unseen("apns", "\(apps.count - appsMax) more apps at \(probe.name)"))
            }
            return []
        } catch {
            return [.failure("apns", "\(error)", remedy: "check apns.keys, apns.certificates and apns.endpoints")]
        }
    }

    private static let apnsAnswerSecondsMax: Int64 = 8
    /// Maximum number of apps that are tested for each credential and environment.
    private static let appsMax = 20
}

extension WorkerConfiguration {
    /// Returns the apps that use the credential and whose default environment is `environment`. Each app has one kind
    /// of push that uses the credential. A key is tested only with the first kind of push. If a certificate covers this
    /// kind, the app is omitted, because the app may never send other kinds.
    fileprivate func apps(
        with credential: Credential.Name, in environment: APNSEnvironment, broadcasts: Bool
    ) -> [APNsProbe.App] {
        let all = AppDirectory.Kind.all.filter { ($0 == .broadcast) == broadcasts }
        let kinds =
            switch credential {
            case .key: all.prefix(1)
            case .certificate: all[...]
            }
        return apps.filter { $0.environment == environment }.compactMap { app in
            kinds.first { app.credentials[environment]?[$0] == credential }
                .map { APNsProbe.App(bundleID: app.bundleID, kind: $0) }
        }
    }
}

/// The test of one credential over one connection to APNs.
///
/// `@unchecked Sendable`: only the thread of one loop uses the object.
final class APNsProbe: @unchecked Sendable {
    struct App {
        var bundleID: String
        var kind: AppDirectory.Kind
    }

    /// A token that has the length of a device token, but is assigned to no device. The demonstration of
    /// apns-simulator refuses tokens with the prefix `bad`.
    private static let nonexistentToken = Array(("bad" + String(repeating: "0", count: 61)).utf8)
    private static let nonexistentChannel = Array("AAAAAAAAAAAAAAAAAAAAAA==".utf8)
    private static let payload = Array(#"{"aps":{}}"#.utf8)

    private let pool: APNSPool
    private let place: String
    private let credential: Credential.Name
    private let failure: ConnectFailure

    init(loop: EventLoop, connector: ByteConnector, configuration: PoolConfiguration) {
        place = connector.endpoint.description
        credential = configuration.credential.name
        pool = APNSPool(loop: loop, connector: connector, configuration: configuration)
        failure = ConnectFailure(of: pool)
    }

    /// Endpoint and credential, such as `api.push.apple.com:443 with key ABC123DEFG`.
    var name: String { "\(place) with \(credential)" }

    /// Sends one push for each app, until a finding applies to all apps. Then closes the connection.
    ///
    /// - Parameter found: called with each app's line when the outcome of its push is known.
    func check(_ apps: [App], found: (DoctorLine) -> Void) async {
        for app in apps {
            let finding = APNsFinding(await outcome(app), reason: failure.error, ofBroadcast: app.kind == .broadcast)
            found(finding.line(app: app.bundleID, credential: credential, place: place))
            // The other apps would get the same finding.
            if finding.isOfAllApps { break }
        }
        pool.close()
    }

    private func outcome(_ app: App) async -> PushOutcome {
        guard let id = try? UUIDValue.random() else { return .notSent(.noToken) }
        let topic = app.kind.topic(bundleID: app.bundleID.utf8)
        let push: APNSRequest =
            switch app.kind {
            case .broadcast:
                .broadcast(channel: Self.nonexistentChannel[...], bundleID: topic, id: id, payload: Self.payload)
            case .device(let type):
                .device(
                    token: Self.nonexistentToken[...], topic: topic, pushType: type, priority: type.defaultPriority,
                    expiration: 0, id: id, payload: Self.payload)
            }
        return await pool.send(push)
    }
}
