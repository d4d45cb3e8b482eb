// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// `Call`: the fast path from Python into a compiled kernel.
//
// It handles the calls of a control loop: plain float64 arrays, all for one state or all for one
// batch. Any other call is forwarded unchanged to `slow`, a Python callable that converts the
// arguments and raises errors; so calls need no error messages here.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <stddef.h>
#include <string.h>

enum {
  MAX_ARGUMENTS = 5,
  MAX_RESULTS = 8,
  MAX_RANK = 4,
  // Fewest states for which the code for batches is used, and for which releasing the interpreter
  // lock pays. `kernel.py` has the same number.
  BATCH = 16,
};

typedef void (*Kernel)(ptrdiff_t count, const double *const *in, double *const *out);

typedef struct {
  int rank;
  npy_intp width;                // number of elements
  npy_intp shape[1 + MAX_RANK];  // the first entry is reserved for the number of states
} Result;

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Kernel kernel, batch_kernel;
  Py_ssize_t arguments, results;
  npy_intp sizes[MAX_ARGUMENTS];
  Result result[MAX_RESULTS];
  npy_intp limit;            // batches of this length or longer are forwarded to `slow`
  PyTypeObject *collection;  // tuple type of several results, NULL for a single one
  // Addresses of arguments and results of the last single state that were found not to overlap.
  // A control loop passes the same arrays in every cycle, which skips the check.
  const double *apart[MAX_ARGUMENTS + MAX_RESULTS];
  PyObject *slow, *dict, *weak;
} Call;

static PyObject *out_name;
static PyArray_Descr *float64;

// Whether an object is an ndarray (no subclass) of native float64 with the given flags.
static inline int is_plain(PyObject *object, int flags) {
  if (!PyArray_CheckExact(object)) return 0;
  PyArrayObject *array = (PyArrayObject *)object;
  if ((PyArray_FLAGS(array) & flags) != flags) return 0;
  PyArray_Descr *type = PyArray_DESCR(array);
  return type == float64 || (type->type_num == NPY_DOUBLE && PyArray_ISNBO(type->byteorder));
}

static inline int overlap(const double *a, npy_intp length, const double *b, npy_intp other) {
  return (uintptr_t)a < (uintptr_t)(b + other) && (uintptr_t)b < (uintptr_t)(a + length);
}

// Get the pointers of the arguments. Returns the number of states, -1 for one state without a
// batch axis, -2 if the call has to be forwarded to `slow`.
static inline npy_intp take(const Call *self, PyObject *const *args, const double **in) {
  npy_intp states = -1;
  for (Py_ssize_t a = 0; a < self->arguments; ++a) {
    if (!is_plain(args[a], NPY_ARRAY_CARRAY_RO)) return -2;
    PyArrayObject *array = (PyArrayObject *)args[a];
    const int rank = PyArray_NDIM(array);
    if (rank < 1 || rank > 2 || PyArray_DIM(array, rank - 1) != self->sizes[a]) return -2;
    const npy_intp count = rank == 2 ? PyArray_DIM(array, 0) : -1;
    if (a > 0 && count != states) return -2;
    states = count;
    in[a] = PyArray_DATA(array);
  }
  return states;
}

// Return the data pointer of a given result array, NULL if `slow` has to check it.
static inline double *take_out(const Result *result, PyObject *given, npy_intp states) {
  if (!is_plain(given, NPY_ARRAY_CARRAY)) return NULL;
  PyArrayObject *array = (PyArrayObject *)given;
  const npy_intp *shape = PyArray_DIMS(array);
  const int lead = states >= 0;
  if (PyArray_NDIM(array) != result->rank + lead) return NULL;
  if (lead && shape[0] != states) return NULL;
  for (int k = 0; k < result->rank; ++k) {
    if (shape[lead + k] != result->shape[1 + k]) return NULL;
  }
  return PyArray_DATA(array);
}

// Whether no result overlaps an argument or another result.
static inline int are_apart(
    Call *self, npy_intp states, const double *const *in, double *const *out) {
  const Py_ssize_t arguments = self->arguments, results = self->results;
  const npy_intp count = states < 0 ? 1 : states;
  if (count == 1) {
    int known = 1;
    for (Py_ssize_t a = 0; a < arguments; ++a) known &= in[a] == self->apart[a];
    for (Py_ssize_t r = 0; r < results; ++r) known &= out[r] == self->apart[MAX_ARGUMENTS + r];
    if (known) return 1;
  }
  for (Py_ssize_t r = 0; r < results; ++r) {
    const npy_intp length = count * self->result[r].width;
    for (Py_ssize_t a = 0; a < arguments; ++a) {
      if (overlap(out[r], length, in[a], count * self->sizes[a])) return 0;
    }
    for (Py_ssize_t s = 0; s < r; ++s) {
      if (overlap(out[r], length, out[s], count * self->result[s].width)) return 0;
    }
  }
  if (count == 1) {
    for (Py_ssize_t a = 0; a < arguments; ++a) self->apart[a] = in[a];
    for (Py_ssize_t r = 0; r < results; ++r) self->apart[MAX_ARGUMENTS + r] = out[r];
  }
  return 1;
}

static inline PyObject *make(const Result *result, npy_intp states) {
  npy_intp shape[1 + MAX_RANK];  // a copy: garbage collection may call this kernel recursively
  memcpy(shape, result->shape, sizeof shape);
  shape[0] = states;
  const int single = states < 0;
  Py_INCREF(float64);
  return PyArray_NewFromDescr(
      &PyArray_Type, float64, result->rank + !single, shape + single, NULL, NULL, 0, NULL);
}

static inline void run(
    const Call *self, npy_intp states, const double *const *in, double *const *out) {
  const npy_intp count = states < 0 ? 1 : states;
  if (count < BATCH) {
    if (count > 0) self->kernel(count, in, out);
    return;
  }
  const Kernel kernel = self->batch_kernel;
  Py_BEGIN_ALLOW_THREADS
  kernel(count, in, out);
  Py_END_ALLOW_THREADS
}

static PyObject *run_new(const Call *self, npy_intp states, const double *const *in) {
  double *out[MAX_RESULTS];
  if (self->collection == NULL) {
    PyObject *made = make(&self->result[0], states);
    if (made != NULL) {
      out[0] = PyArray_DATA((PyArrayObject *)made);
      run(self, states, in, out);
    }
    return made;
  }
  PyObject *all = self->collection->tp_alloc(self->collection, self->results);
  if (all == NULL) return NULL;
  for (Py_ssize_t r = 0; r < self->results; ++r) {
    PyObject *made = make(&self->result[r], states);
    if (made == NULL) {
      Py_DECREF(all);
      return NULL;
    }
    out[r] = PyArray_DATA((PyArrayObject *)made);
    PyTuple_SET_ITEM(all, r, made);
  }
  run(self, states, in, out);
  return all;
}

// Returns whether the kernel ran; if not, the call has to be forwarded to `slow`.
static int run_into(Call *self, npy_intp states, const double *const *in, PyObject *given) {
  double *out[MAX_RESULTS];
  if (self->collection == NULL) {
    out[0] = take_out(&self->result[0], given, states);
    if (out[0] == NULL) return 0;
  } else {
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != self->results) return 0;
    for (Py_ssize_t r = 0; r < self->results; ++r) {
      out[r] = take_out(&self->result[r], PyTuple_GET_ITEM(given, r), states);
      if (out[r] == NULL) return 0;
    }
  }
  if (!are_apart(self, states, in, out)) return 0;
  run(self, states, in, out);
  return 1;
}

static PyObject *call(
    PyObject *object, PyObject *const *args, size_t flagged, PyObject *names) {
  Call *self = (Call *)object;
  const double *in[MAX_ARGUMENTS];
  PyObject *out = NULL;
  if (PyVectorcall_NARGS(flagged) != self->arguments) goto slow;
  if (names != NULL && PyTuple_GET_SIZE(names) > 0) {
    // Keywords in code are interned, so comparing pointers suffices; a keyword "out" that is not
    // interned takes the slow path.
    if (PyTuple_GET_SIZE(names) != 1 || PyTuple_GET_ITEM(names, 0) != out_name) goto slow;
    out = args[self->arguments];
  }
  const npy_intp states = take(self, args, in);
  if (states < -1 || states >= self->limit) goto slow;
  if (out == NULL || out == Py_None) return run_new(self, states, in);
  if (!run_into(self, states, in, out)) goto slow;
  Py_INCREF(out);
  return out;
slow:
  return PyObject_Vectorcall(self->slow, args, flagged, names);
}

static int fill_shape(Result *result, PyObject *shape) {
  if (!PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) > MAX_RANK) return -1;
  result->rank = (int)PyTuple_GET_SIZE(shape);
  result->width = 1;
  for (int k = 0; k < result->rank; ++k) {
    const Py_ssize_t length = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, k));
    if (length < 0) return -1;
    result->shape[1 + k] = length;
    result->width *= length;
  }
  return 0;
}

static int fill(Call *self, PyObject *sizes, PyObject *shapes) {
  self->arguments = PyTuple_GET_SIZE(sizes);
  self->results = PyTuple_GET_SIZE(shapes);
  if (self->arguments < 1 || self->arguments > MAX_ARGUMENTS) return -1;
  if (self->results < 1 || self->results > MAX_RESULTS) return -1;
  if (self->collection == NULL && self->results != 1) return -1;
  for (Py_ssize_t a = 0; a < self->arguments; ++a) {
    self->sizes[a] = PyLong_AsSsize_t(PyTuple_GET_ITEM(sizes, a));
    if (self->sizes[a] < 0) return -1;
  }
  for (Py_ssize_t r = 0; r < self->results; ++r) {
    if (fill_shape(&self->result[r], PyTuple_GET_ITEM(shapes, r)) < 0) return -1;
  }
  return 0;
}

// Return the function at an address, or NULL with an exception set.
static Kernel kernel_at(PyObject *address) {
  void *place = PyLong_AsVoidPtr(address);
  Kernel kernel = NULL;
  if (place == NULL && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the address is 0");
  memcpy(&kernel, &place, sizeof kernel);  // C has no cast from data to function pointers
  return kernel;
}

static PyObject *use_for_batches(PyObject *object, PyObject *args) {
  PyObject *address;
  Py_ssize_t limit;
  if (!PyArg_ParseTuple(args, "O!n", &PyLong_Type, &address, &limit)) return NULL;
  const Kernel kernel = kernel_at(address);
  if (kernel == NULL) return NULL;
  Call *self = (Call *)object;
  self->batch_kernel = kernel;
  self->limit = limit;
  Py_RETURN_NONE;
}

static PyObject *call_new(PyTypeObject *type, PyObject *args, PyObject *names) {
  static char *keywords[] = {"address", "sizes", "shapes", "result_type", "slow", "limit", NULL};
  PyObject *address, *sizes, *shapes, *collection, *slow;
  Py_ssize_t limit = PY_SSIZE_T_MAX;
  if (!PyArg_ParseTupleAndKeywords(
          args, names, "O!O!O!OO|n", keywords, &PyLong_Type, &address, &PyTuple_Type, &sizes,
          &PyTuple_Type, &shapes, &collection, &slow, &limit))
    return NULL;
  const Kernel kernel = kernel_at(address);
  if (kernel == NULL) return NULL;
  if (collection != Py_None &&
      !(PyType_Check(collection) &&
        PyType_FastSubclass((PyTypeObject *)collection, Py_TPFLAGS_TUPLE_SUBCLASS))) {
    PyErr_SetString(PyExc_TypeError, "result_type must be None or a subclass of tuple");
    return NULL;
  }
  Call *self = (Call *)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  self->vectorcall = call;
  self->kernel = self->batch_kernel = kernel;
  self->limit = limit;
  if (collection != Py_None) {
    Py_INCREF(collection);
    self->collection = (PyTypeObject *)collection;
  }
  Py_INCREF(slow);
  self->slow = slow;
  if (fill(self, sizes, shapes) < 0) {
    if (!PyErr_Occurred()) {
      PyErr_SetString(PyExc_ValueError, "sizes, shapes and result_type do not make a kernel");
    }
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
  Call *self = (Call *)object;
  Py_VISIT(self->collection);
  Py_VISIT(self->slow);
  Py_VISIT(self->dict);
  return 0;
}

static int clear(PyObject *object) {
  Call *self = (Call *)object;
  // An object being collected with this one may still call it; calling None raises an error then.
  Py_INCREF(Py_None);
  Py_XSETREF(self->slow, Py_None);
  Py_CLEAR(self->dict);
  return 0;
}

static void dealloc(PyObject *object) {
  Call *self = (Call *)object;
  PyObject_GC_UnTrack(object);
  if (self->weak != NULL) PyObject_ClearWeakRefs(object);
  Py_CLEAR(self->slow);
  Py_CLEAR(self->dict);
  Py_CLEAR(self->collection);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *repr(PyObject *object) {
  PyObject *name = PyObject_GetAttrString(object, "__qualname__");
  if (name == NULL) {
    PyErr_Clear();
    return PyUnicode_FromString("<kernel>");
  }
  PyObject *text = PyUnicode_FromFormat("<kernel %S>", name);
  Py_DECREF(name);
  return text;
}

static PyMethodDef methods[] = {
    {"use_for_batches", use_for_batches, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject call_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "kron_caller.Call",
    .tp_basicsize = sizeof(Call),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Call, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = call_new,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_repr = repr,
    .tp_methods = methods,
    .tp_getset = attributes,
    .tp_dictoffset = offsetof(Call, dict),
    .tp_weaklistoffset = offsetof(Call, weak),
    .tp_getattro = PyObject_GenericGetAttr,
    .tp_setattro = PyObject_GenericSetAttr,
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "kron_caller", .m_size = -1};

PyMODINIT_FUNC PyInit_kron_caller(void) {
  import_array();
  if (out_name == NULL) out_name = PyUnicode_InternFromString("out");
  if (float64 == NULL) float64 = PyArray_DescrFromType(NPY_DOUBLE);
  if (out_name == NULL || float64 == NULL || PyType_Ready(&call_type) < 0) return NULL;
  PyObject *made = PyModule_Create(&module);
  if (made == NULL) return NULL;
  Py_INCREF(&call_type);
  if (PyModule_AddObject(made, "Call", (PyObject *)&call_type) < 0) {
    Py_DECREF(&call_type);
    Py_DECREF(made);
    return NULL;
  }
  return made;
}
