public import BrokerTopology
public import HTTPClient
import Threads

/// The address and user of RabbitMQ's management API. Each call blocks a thread of its own, not the caller's.
public struct ManagementAccess: Sendable {
    let url: HTTPURL
    public let virtualHost: String
    let authoritiesPEM: String?

    /// - Parameter authoritiesPEM: certificate authorities; nil: those of the machine.
    public init(url: HTTPURL, virtualHost: String, authoritiesPEM: String?) {
        self.url = url
        self.virtualHost = virtualHost
        self.authoritiesPEM = authoritiesPEM
    }

    /// Returns what exists of a topology.
    public func snapshot(of topology: Topology) async -> Result<BrokerSnapshot, ManagementClient.Failure> {
        await call { client throws(ManagementClient.Failure) in try client.snapshot(of: topology) }
    }

    /// Returns what exists of a topology once the broker's statistics are current.
    ///
    /// - Parameter onWait: called on another thread, with a sentence for an operator, if the call waits for them.
    public func settledSnapshot(
        of topology: Topology, onWait: @escaping @Sendable (String) -> Void
    ) async -> Result<BrokerSnapshot, ManagementClient.Failure> {
        await call { client throws(ManagementClient.Failure) in
            try client.settledSnapshot(of: topology, onWait: onWait)
        }
    }

    /// Returns the time of the broker's clock; nil if it does not send it.
    public func unixSeconds() async -> Result<Int64?, ManagementClient.Failure> {
        await call { client throws(ManagementClient.Failure) in try client.overview().unixSeconds }
    }

    /// Sets a policy. Returns what failed.
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
