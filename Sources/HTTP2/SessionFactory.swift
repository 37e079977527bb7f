internal import CNGHTTP2

/// A factory of nghttp2 sessions. The callbacks get the Swift session from nghttp2's user data and only forward the
/// event. nghttp2 forbids callbacks to read, write or delete the session.
enum SessionFactory {
    /// Number of unsent acknowledgments of PING and SETTINGS from which nghttp2 treats a peer as flooding.
    private static let acknowledgmentsWaitingMax = 1000
    /// Maximum number of entries in a SETTINGS frame.
    private static let settingsEntriesMax = 32

    /// Creates a session of nghttp2.
    ///
    /// - Parameter memory: must outlive the session.
    static func make(isServer: Bool, memory: SessionMemory) -> OpaquePointer {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        var session: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_option_new(&options)
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(options)
        }
        guard let callbacks, let options else { fatalError("out of memory") }
        set(callbacks)
        if isServer {
            nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, _, userData in
                with(userData) { $0.frameBegan() }
                return 0
            }
            nghttp2_session_callbacks_set_error_callback2(callbacks) { _, code, text, count, userData in
                guard code == NGHTTP2_ERR_HTTP_HEADER.rawValue else { return 0 }
                with(userData) { $0.messageRefused(UnsafeRawBufferPointer(start: text, count: count)) }
                return 0
            }
        }
        // The limit until the peer's SETTINGS arrive. nghttp2's default is 100 streams.
        nghttp2_option_set_peer_max_concurrent_streams(options, 1)
        nghttp2_option_set_max_outbound_ack(options, acknowledgmentsWaitingMax)
        nghttp2_option_set_max_settings(options, settingsEntriesMax)
        // nghttp2 keeps closed streams only for the priority tree, which Martlet does not use.
        nghttp2_option_set_no_closed_streams(options, 1)
        // nghttp2's reset limit uses the system clock, which a simulation cannot control. `InputBudget` limits resets.
        nghttp2_option_set_stream_reset_rate_limit(options, .max, .max)
        var memory = memory.functions
        let result =
            isServer
            ? nghttp2_session_server_new3(&session, callbacks, nil, options, &memory)
            : nghttp2_session_client_new3(&session, callbacks, nil, options, &memory)
        guard result == 0, let session else { fatalError("out of memory") }
        return session
    }

    private static func set(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, userData in
            guard let frame else { return 0 }
            let id = frame.pointee.hd.stream_id
            with(userData) { $0.headersBegan(streamID: id, slot: $0.slot(streamID: id)) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, flags, userData in
            with(userData) { session in
                session.headerReceived(
                    name: UnsafeRawBufferPointer(start: name, count: nameCount),
                    value: UnsafeRawBufferPointer(start: value, count: valueCount),
                    neverIndexed: flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0)
                    ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
            }
        }
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, _, userData in
            with(userData) { session in
                session.headerMalformed(
                    name: UnsafeRawBufferPointer(start: name, count: nameCount),
                    value: UnsafeRawBufferPointer(start: value, count: valueCount))
                    ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
            }
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, data, count, userData in
            with(userData) {
                $0.bodyReceived(slot: $0.slot(streamID: id), UnsafeRawBufferPointer(start: data, count: count))
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, userData in
            guard let frame else { return 0 }
            with(userData) { $0.frameReceived(frame) }
            return 0
        }
        nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) { _, frame, userData in
            guard let frame, frame.pointee.hd.type == UInt8(NGHTTP2_SETTINGS.rawValue) else { return 0 }
            guard frame.pointee.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 else { return 0 }
            with(userData) { $0.settingsWillBeSent() }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, userData in
            guard let frame else { return 0 }
            with(userData) { $0.frameSent(frame) }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, userData in
            with(userData) { $0.streamClosed(slot: $0.slot(streamID: id), HTTP2ErrorCode(rawValue: code)) }
            return 0
        }
    }

    /// The callback that copies the next part of a stream's body into a DATA frame.
    static let bodySource: nghttp2_data_source_read_callback = { _, _, space, count, flags, source, userData in
        guard let source, let slot = source.pointee.ptr.map({ Int(bitPattern: $0) - 1 }) else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        return with(userData) { session in
            let part = session.streams.readBody(
                slot: slot, into: UnsafeMutableRawBufferPointer(start: space, count: count))
            guard let part else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
            if part.isEnd { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return part.count
        }
    }

    /// Returns the data provider for the body of the stream in a slot.
    static func body(slot: Int) -> nghttp2_data_provider {
        nghttp2_data_provider(
            source: nghttp2_data_source(ptr: UnsafeMutableRawPointer(bitPattern: slot + 1)), read_callback: bodySource)
    }
}

/// Calls `body` with the Swift session, which outlives nghttp2's session.
@inline(__always)
private func with<Result>(_ userData: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Result) -> Result {
    Unmanaged<HTTP2Session>.fromOpaque(userData!)._withUnsafeGuaranteedRef(body)
}
