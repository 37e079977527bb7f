import EventLoop

/// A new client always gets in: probes and attackers may come from the same address, so that no address is refused.
extension AdminServer {
    /// Closes a connection if the new one, of `host`, would be one too many.
    func makeRoom(for host: PeerHost?) {
        if let host {
            close(if: configuration.connectionsPerHostMax, of: clients.values.filter { $0.host == host }, .address)
        }
        close(if: configuration.connectionsMax, of: Array(clients.values), .full)
    }

    /// Closes the connection that has waited longest for its client, if there are `countMax` or more. It closes one whose
    /// request has no answer yet only if all are such.
    private func close(if countMax: Int, of clients: [AdminClient], _ cause: AdminClosing) {
        guard clients.count >= countMax else { return }
        let oldest = clients.min {
            ($0.isOwedAnswer ? 1 : 0, $0.waitingSince) < ($1.isOwedAnswer ? 1 : 0, $1.waitingSince)
        }
        if let oldest { close(oldest, cause) }
    }

    /// Closes a connection, of which libmicrohttpd is rid when it runs.
    ///
    /// - Parameter cause: counted; nil where the connection was idle.
    func close(_ client: AdminClient, _ cause: AdminClosing?) {
        guard clients.removeValue(forKey: ObjectIdentifier(client)) != nil else { return }
        client.shut()
        if let cause { onClosed?(cause) }
    }
}
