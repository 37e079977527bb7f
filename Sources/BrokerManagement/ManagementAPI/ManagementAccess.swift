public import BrokerTopology
public import HTTPClient
import Threads

/// The address and user of RabbitMQ's management API. Each call runs on a new thread and does not block the caller's
/// thread.
public struct ManagementAccess: Sendable {
    let url: HTTPURL
    public let virtualHost: String
    let authoritiesPEM: String?

    /// Creates an access to one virtual host.
    ///
    /// - Parameter authoritiesPEM: the trusted certificate authorities; nil for the authorities of the system.
    public init(url: HTTPURL, virtualHost: String, authoritiesPEM: String?) {
        self.url = url
        self.virtualHost = virtualHost
        self.authoritiesPEM = authoritiesPEM
    }

    /// Returns a snapshot of the topology's objects that exist, and of other queues that are bound to its exchanges.
    public func snapshot(of topology: Topology) async -> Result<BrokerSnapshot, ManagementClient.Failure> {
        await call { client throws(ManagementClient.Failure) in try client.snapshot(of: topology) }
    }

    /// Returns a snapshot like ``snapshot(of:)``, once the broker's statistics are current or a timeout has passed.
    ///
    /// - Parameter onWait: called on another thread, with a sentence for an operator, if the call waits for statistics.
    public func settledSnapshot(
        of topology: Topology, onWait: @escaping @Sendable (String) -> Void
    ) async -> Result<BrokerSnapshot, ManagementClient.Failure> {
        await call { client throws(ManagementClient.Failure) in
            try client.settledSnapshot(of: topology, onWait: onWait)
        }
    }

    /// Returns the time of the broker's clock; nil if the broker's response has no valid date.
    public func unixSeconds() async -> Result<Int64?, ManagementClient.Failure> {
        await call { client throws(ManagementClient.Failure) in try client.overview().unixSeconds }
    }

    /// Sets a policy. Returns nil on success.
    func set(_ policy: Topology.Policy) async -> ManagementClient.Failure? {
        let result = await call { client throws(ManagementClient.Failure) in try client.set(policy) }
        if case .failure(let failure) = result { return failure }
        return nil
    }

    private func call<Answer: Sendable>(
        _ request: @escaping @Sendable (ManagementClient) throws(ManagementClient.Failure) -> Answer
    ) async -> Result<Answer, ManagementClient.Failure> {
        await DetachedThread.run { [self] () -> Result<Answer, ManagementClient.Failure> in
            do throws(ManagementClient.Failure) {
                return .success(try request(ManagementClient(self)))
            } catch {
                return .failure(error)
            }
        }
    }
}
