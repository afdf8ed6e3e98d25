//! A static file server for the built page, in a sub-path as on a project site of a static host.

use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::{fs, io, thread};
use tokio::net::TcpListener;

/// The page must work from any folder; this is the one it is tested in.
pub const SUB_PATH: &str = "/some/sub/path/";

/// Serves `dist` on a free port of the loopback until the process ends; gives the origin, `http://127.0.0.1:PORT`.
pub fn serve(dist: PathBuf) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port on the loopback");
    let address = listener.local_addr().expect("an address");
    listener
        .set_nonblocking(true)
        .expect("a listener that does not block");
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let tasks = tokio::task::LocalSet::new();
        tasks.block_on(&runtime, accept(listener, dist))
    });
    format!("http://{address}")
}

async fn accept(listener: std::net::TcpListener, dist: PathBuf) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let dist = dist.clone();
        tokio::task::spawn_local(async move {
            let answer = service_fn(async |request: Request<Incoming>| {
                Ok::<_, Infallible>(answer(request.uri().path(), &dist))
            });
            // A browser that closes a connection early is no failure of the test.
            http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await
                .ok();
        });
    }
}

fn answer(path: &str, dist: &Path) -> Response<Full<Bytes>> {
    let path = match path.strip_prefix(SUB_PATH) {
        Some("") => dist.join("index.html"),
        Some(name) if !name.contains("..") => dist.join(name),
        _ => return missing(),
    };
    let Ok(bytes) = fs::read(&path) else {
        return missing();
    };
    let kind = match path.extension().and_then(|ext| ext.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let mut response = Response::new(Full::from(bytes));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-cache"),
    );
    response
}

fn missing() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from("not found"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
