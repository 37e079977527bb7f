import EventLoop

/// Room for new connections. At a limit, a new connection displaces another connection. Probes and attackers may share
/// an address, so no address is refused.
extension AdminServer {
    /// Closes a connection of `host` or of any host if a new connection would exceed a limit.
    func makeRoom(for host: PeerHost?) {
        if let host {
            close(if: configuration.connectionsPerHostMax, of: clients.values.filter { $0.host == host }, .address)
        }
        close(if: configuration.connectionsMax, of: Array(clients.values), .full)
    }

    /// Closes the connection in `clients` that has waited longest for its client, if their number has reached
    /// `countMax`. A connection that is owed an answer is closed only if every connection in `clients` is owed an
    /// answer.
    private func close(if countMax: Int, of clients: [AdminClient], _ cause: AdminClosing) {
        guard clients.count >= countMax else { return }
        let oldest = clients.min {
            ($0.isOwedAnswer ? 1 : 0, $0.waitingSince) < ($1.isOwedAnswer ? 1 : 0, $1.waitingSince)
        }
        if let oldest { close(oldest, cause) }
    }

    /// Shuts a connection, which libmicrohttpd ends at its next run.
    ///
    /// - Parameter cause: the cause to pass to `onClosed`; nil after the timeout of an idle connection or of a client
    ///   that is gone.
    func close(_ client: AdminClient, _ cause: AdminClosing?) {
        guard clients.removeValue(forKey: ObjectIdentifier(client)) != nil else { return }
        client.shut()
        if let cause { onClosed?(cause) }
    }
}
